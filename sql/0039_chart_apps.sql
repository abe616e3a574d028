-- The first apps of a chart can be looked up for whoever asks about its category: one row for a chart, one request.
alter table due drop constraint due_kind_check;
alter table due add constraint due_kind_check check (kind in (
  'search', 'app', 'hints', 'difficulty', 'canary', 'listing', 'reviews', 'chart', 'chart_apps', 'genres', 'developer',
  'app_ads', 'findings'
));
