-- What was changed by a command on the machine: who typed it, what, and how it ended. The API's own writes are in audit.
create table operator_action (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- "ada@host"
  actor text not null,
  -- "workspace set"
  command text not null,
  -- what was typed after it, without what may be a secret
  typed text not null,
  -- null = it was killed, or goes on
  ended_at timestamptz,
  exit_code smallint,
  check ((ended_at is null) = (exit_code is null))
);
create index operator_action_at on operator_action (at, id);
