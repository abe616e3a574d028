-- Two witnesses of the same money are compared: what was given back and what was free is told apart from what was paid.

-- units that cost nothing, and money given back as a positive number; null = derived before these were told apart
alter table sales_fact
add column free_units int,
add column refunded numeric;

-- when a service first and last told something
create index billing_event_seen_idx on billing_event (account_id, seen_at);
