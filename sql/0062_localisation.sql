-- Localisations of a listing: which text is meant for a locale, and a listing write that comes back without one.

-- The text itself is in writer_text, by the digest.
create table listing_translation (
  app_id text not null references tracked_app (id) on delete cascade,
  locale text not null,
  digest text not null,
  begun_at timestamptz not null default now(),
  -- what was taken for it, and whether an earlier text rests on the same unit
  allowance text not null check (allowance in ('listingWrites', 'listingWritesEver')),
  unit text not null,
  keeps_unit bool not null,
  primary key (app_id, locale)
);

-- Work that ended without a result gives its unit back, whoever relied on it. False where there is none.
create function return_allowance(w int, what text, about text) returns boolean
language plpgsql as $$
declare
  counted date;
begin
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  delete from allowance_unit
  where workspace_id = w and allowance = what and subject = about
  returning month into counted;
  if counted is null then return false; end if;
  update allowance_month set used = used - 1 where workspace_id = w and allowance = what and month = counted;
  return true;
end $$;
