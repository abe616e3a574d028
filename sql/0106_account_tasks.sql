-- One table of what is read of connected accounts, with the outcome of each question. Until now there were three: days of
-- reports, other questions to a seller's console, and questions to an ad account.
create table account_task (
  account_id text not null references connected_account on delete cascade,
  -- a report of days, or a question: src/accounts/tasks.ts lists them
  task text not null,
  -- the day of a report; else the platform's id of an app, file, product or campaign, or a country; empty: the account itself
  subject text not null,
  -- the day that it is about, newer ones are read first; null: none
  day date,
  -- read: with rows; empty: published without rows; late: not published yet, or not readable; denied: not for the key's role;
  -- gone: unknown to the platform; not_requested, stopped: the console does not make the report
  state text not null default 'due' check (
    state in ('due', 'read', 'empty', 'late', 'denied', 'gone', 'not_requested', 'stopped')
  ),
  -- when it was last read
  read_at timestamptz,
  -- failures since the last answer
  tries int not null default 0,
  failure text,
  -- what was left out of an answer that was otherwise read: how many rows, and why
  put_aside text,
  -- since when a caller waits for it; null: none does
  asked_at timestamptz,
  -- null: not read again
  next_at timestamptz default now(),
  primary key (account_id, task, subject)
);
create index account_task_next_idx on account_task (account_id, next_at) where next_at is not null;

insert into account_task (account_id, task, subject, day, state, read_at, tries, failure, put_aside, next_at)
select account_id, report, day::text, day,
  case state when 'rows' then 'read' when 'none' then 'empty' when 'unavailable' then 'late' else state end,
  read_at, tries, failure, put_aside, next_at
from report_turn;

insert into account_task (account_id, task, subject, day, state, read_at, tries, failure, put_aside, asked_at, next_at)
select t.account_id, coalesce(i.report, t.task), t.subject, i.processed,
  case t.state when 'ok' then 'read' when 'none' then 'not_requested' else t.state end,
  t.read_at, t.tries, t.failure, t.put_aside, t.asked_at, t.next_at
from console_turn t
left join analytics_instance i on t.task = 'instance' and i.account_id = t.account_id and i.instance = t.subject
-- a file that the console has made anew since is another one
where t.task <> 'instance' or i.instance is not null
on conflict do nothing;

insert into account_task (account_id, task, subject, state, read_at, tries, failure, put_aside, next_at)
select account_id, task, subject, case when read_at is not null then 'read' when failure is not null then 'late' else 'due' end,
  read_at, tries, failure, put_aside, next_at
from ads_turn;

drop table report_turn;
drop table console_turn;
drop table ads_turn;
