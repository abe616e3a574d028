-- What a workspace's own sales move of an estimate, for its own eyes: they are other downloads per rating.

alter table app_estimate
  -- whose downloads per rating were taken; null = not known
  add column genre text,
  -- price: downloads times it; place: on the grossing list. Null = no revenue, or made before this was kept
  add column revenue_by text check (revenue_by in ('price', 'place'));
