-- What assistants answer when they are asked for apps (src/observations/kinds/assistant-answer.ts). An answer is about a
-- keyword in a storefront, and serves every app: which apps it names is found in its text whenever it is read.
create table assistant_answer (
  storefront text not null,
  term text not null,
  source text not null check (source in ('openai', 'anthropic', 'google', 'perplexity')),
  -- as asked for
  model text not null,
  -- version and variant of the question's words
  phrasing text not null,
  -- which of a check's answers
  run smallint not null,
  seen_at timestamptz not null,
  day date not null,
  language text not null,
  text text not null,
  searched boolean not null,
  -- [{url, title}]
  cited jsonb not null,
  answered_by text,
  input_tokens int,
  output_tokens int,
  searches int,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (storefront, term, source, model, phrasing, run, seen_at)
);
create index assistant_answer_day on assistant_answer (day);

-- One run of a question, asked once for all checks that want it (src/visibility).
create table assistant_turn (
  id bigint generated always as identity primary key,
  storefront text not null,
  term text not null,
  language text not null,
  assistant text not null check (assistant in ('openai', 'anthropic', 'google', 'perplexity')),
  model text not null,
  phrasing text not null,
  run smallint not null,
  state text not null default 'due' check (state in ('due', 'answered', 'failed')),
  created_at timestamptz not null default now(),
  -- when it may be asked, or asked again
  next_at timestamptz not null,
  tries smallint not null default 0,
  lease uuid,
  lease_until timestamptz,
  -- of a try: a status and a word of ours
  failure text,
  -- with the columns above, the answer's key
  answered_at timestamptz,
  ended_at timestamptz,
  check ((lease is null) = (lease_until is null)),
  check ((state = 'due') = (ended_at is null)),
  check ((state = 'answered') = (answered_at is not null))
);
create unique index assistant_turn_due on assistant_turn (storefront, term, assistant, model, phrasing, run)
  where state = 'due';
create index assistant_turn_next on assistant_turn (assistant, next_at) where state = 'due';
create index assistant_turn_answered on assistant_turn (storefront, term, assistant, model, phrasing, run, answered_at)
  where state = 'answered';
create index assistant_turn_ended on assistant_turn (ended_at);

-- A check of one app: the runs that it waits for, its own and those that others asked for already.
create table ai_check (
  id text primary key,
  workspace_id int not null references workspace (id),
  app_id text not null references tracked_app (id) on delete cascade,
  storefronts text[] not null,
  began_at timestamptz not null default now(),
  ended_at timestamptz,
  outcome text check (outcome in ('measured', 'failed')),
  -- who took the unit, to give it back where the check failed
  request_id text not null,
  returned_at timestamptz,
  check ((ended_at is null) = (outcome is null))
);
create unique index ai_check_running on ai_check (app_id) where ended_at is null;
create index ai_check_app on ai_check (app_id, began_at);
create index ai_check_began on ai_check (began_at);

create table ai_check_turn (
  check_id text not null references ai_check (id) on delete cascade,
  turn_id bigint not null references assistant_turn (id) on delete cascade,
  -- asked for by another check
  shared boolean not null,
  primary key (check_id, turn_id)
);
create index ai_check_turn_turn on ai_check_turn (turn_id);

-- When each assistant may be asked next, of all processes together.
create table assistant_pace (
  assistant text primary key,
  next_at timestamptz not null
);
