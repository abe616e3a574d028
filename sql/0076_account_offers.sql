-- What the seller's console offers of a product at another price than the usual: to new subscribers, to earlier ones, and for codes.
create table account_offer (
  account_id text not null references connected_account (id) on delete cascade,
  app text not null,
  product text not null,
  kind text not null check (kind in ('introductory', 'promotional', 'code')),
  -- the console's id; of introductory offers, which it has one of for each territory, what they offer
  offer text not null,
  name text,
  mode text,
  duration text,
  periods integer,
  active boolean,
  codes integer,
  -- null = it is of no territory
  countries text[],
  starts date,
  ends date,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  primary key (account_id, app, product, kind, offer)
);
