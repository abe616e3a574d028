-- How often codes of offers were redeemed, as the console's report of a day says; derived of report_day, as its other facts are.
create table offer_redemption_fact_row (
  account_id text not null references connected_account on delete cascade,
  day date not null,
  place int not null,
  -- the store's ids of the app and of the subscription
  app text not null,
  country text not null,
  product text not null,
  -- the reference name, which account_offer has too
  offer text not null,
  redemptions int not null,
  set_id bigint not null default 0,
  primary key (account_id, day, set_id, place)
);
create index offer_redemption_fact_app_idx on offer_redemption_fact_row (account_id, app, day);
create index offer_redemption_fact_set_idx on offer_redemption_fact_row (set_id) where set_id > 0;
create view offer_redemption_fact as
select f.account_id, f.day, f.place, f.app, f.country, f.product, f.offer, f.redemptions
from offer_redemption_fact_row f
left join fact_set s on s.account_id = f.account_id and s.report = 'offer_redemptions' and s.about = '' and s.day = f.day
where f.set_id = coalesce(s.set_id, 0);
