-- Which days a report was said for, and when, is read without the rows that it said.

-- they stand beside the days, some to a page: of a year it took four times as long
create index report_day_said on report_day (account_id, report, day) include (seen_at);
