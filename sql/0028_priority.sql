-- Who goes first when not all that is due can be read was called `class`, a word of another meaning everywhere else. What is
-- stored stays as it is.
alter table due rename column class to priority;
alter table due rename constraint due_class_check to due_priority_check;
alter table storefront_audit rename column class to priority;
alter table storefront_audit rename constraint storefront_audit_class_check to storefront_audit_priority_check;
alter view measured_app rename column class to priority;
alter view tracked_subject rename column class to priority;

-- A function keeps the text it was made of: each that names the column is made again with the new name.
do $$
declare
  named record;
begin
  for named in
    select pg_get_functiondef(oid) as made
    from pg_proc
    where pronamespace = current_schema()::regnamespace and prosrc ~ '\mclass\M' and prosrc ~ '\m(due|storefront_audit)\M'
    order by oid
  loop
    execute regexp_replace(named.made, '\mclass\M', 'priority', 'g');
  end loop;
end $$;

-- Findings ask no upstream: they took turns at one that was nobody.
delete from pace where upstream = 'here';
