-- An import that read an app looks for those that name it as a rival by hand.
create index tracked_app_manual_rivals on tracked_app using gin (manual_rivals);
