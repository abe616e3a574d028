-- What a workspace started of the Hive's measurements on a UTC day: the requests that took a unit, so that one that is given
-- back twice goes once.
create table measure_day (
  workspace_id int not null references workspace,
  day date not null,
  requests text[] not null,
  primary key (workspace_id, day)
) with (fillfactor = 50);
create index measure_day_day on measure_day (day, workspace_id);
