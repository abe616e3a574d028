-- What billing services and the App Store itself tell of purchases, message by message. Of a message only these fields are kept:
-- who bought is nowhere.

create table billing_event (
  account_id text not null references connected_account on delete cascade,
  -- the sender's own: the same message comes again under the same one
  event_id text not null,
  -- as the sender names it
  type text not null,
  counts_as text not null,
  -- production or sandbox
  environment text not null,
  -- app_store or other
  store text not null,
  happened_at timestamptz not null,
  product text,
  country text,
  -- of a notification of the store its storefront; of a billing service where the phone was last heard of
  country_is text,
  currency text,
  -- what the customer paid, less than nothing where it was given back; null = the message does not say
  price numeric,
  price_usd numeric,
  offer text,
  source text not null,
  seen_at timestamptz not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (account_id, event_id)
);
create index billing_event_happened_idx on billing_event (account_id, happened_at);
