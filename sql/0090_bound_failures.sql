-- A failure of a connected account affects only its question or its row.

-- what was left out of an answer that was otherwise read: how many rows, and why
alter table report_turn add column put_aside text;
alter table console_turn add column put_aside text;
alter table ads_turn add column put_aside text;

-- denied: the key's role does not include the report
alter table report_turn drop constraint report_turn_state_check;
alter table report_turn add constraint report_turn_state_check check (
  state in ('due', 'late', 'rows', 'none', 'unavailable', 'denied')
);

-- the version of each report that the console named last; an empty text = it takes none
alter table connected_account add column report_versions jsonb not null default '{}';

-- other: a kind of user that is new to this version of the program
alter table ads_change_fact_row drop constraint ads_change_fact_changed_by_check;
alter table ads_change_fact_row add constraint ads_change_fact_changed_by_check check (
  changed_by in ('dashboard', 'api', 'apple', 'other')
);

-- null = the platform names no figure, which is not zero
alter table ads_day_fact_row alter column impressions drop not null;
alter table ads_day_fact_row alter column taps drop not null;
alter table ads_day_fact_row alter column installs drop not null;
alter table ads_day_fact_row alter column new_downloads drop not null;
alter table ads_day_fact_row alter column spend drop not null;
alter table ads_term_fact_row alter column impressions drop not null;
alter table ads_term_fact_row alter column taps drop not null;
alter table ads_term_fact_row alter column installs drop not null;
alter table ads_term_fact_row alter column new_downloads drop not null;
alter table ads_term_fact_row alter column spend drop not null;

-- null = the rest of a campaign that Apple shows in no row
alter table ads_term_fact_row alter column ad_group drop not null;
