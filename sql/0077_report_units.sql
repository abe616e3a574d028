-- Of sales: units by app and storefront, so that a restated day is told without reading all that was said of it. Null = a report
-- that counts none, or one that was stored before these were held.
alter table report_day add column units jsonb;
