-- The date that a page names for its version. A reading that names an earlier date than a reading seen before it is the
-- answer of a stale cache: its runs have the section 'stale'.
alter table listing_run
  add column released_at timestamptz;

alter table app_storefront
  -- the latest date of all readings of this row's source, and when the first of them named it; null = as updated_at
  add column newest_release timestamptz,
  add column newest_release_seen_at timestamptz,
  -- when the source last gave a stale answer
  add column stale_at timestamptz;

alter table listing_content
  drop constraint listing_content_section_check,
  add constraint listing_content_section_check check (section in ('page', 'similar', 'developer', 'stale')) not valid;

-- they satisfied the narrower rule
alter table listing_content
  validate constraint listing_content_section_check;
