-- Answers of AI assistants that are asked for apps, and texts that a model writes.

-- An answer to a question about a keyword in a storefront. It serves every app: the apps that the answer names are
-- found in its text whenever it is read.
create table assistant_answer (
  storefront text not null,
  term text not null,
  source text not null check (source in ('openai', 'anthropic', 'google', 'perplexity')),
  -- The requested model.
  model text not null,
  -- The version and variant of the question.
  phrasing text not null,
  -- The number of the run that gave this answer.
  run smallint not null,
  seen_at timestamptz not null,
  day date not null,
  language text not null,
  text text not null,
  searched boolean not null,
  -- [{url, title}].
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

-- One run of a question, asked once for all checks that need it.
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
  -- When it may be asked, or asked again.
  next_at timestamptz not null,
  tries smallint not null default 0,
  lease uuid,
  lease_until timestamptz,
  -- The status of the last try, with a word of ours.
  failure text,
  -- With the columns from storefront to run, the key of the answer.
  answered_at timestamptz,
  ended_at timestamptz,
  constraint assistant_turn_lease_check check ((lease is null) = (lease_until is null)),
  constraint assistant_turn_ended_at_check check ((state = 'due') = (ended_at is null)),
  constraint assistant_turn_answered_at_check check ((state = 'answered') = (answered_at is not null))
);
create unique index assistant_turn_due on assistant_turn (storefront, term, assistant, model, phrasing, run)
where state = 'due';
create index assistant_turn_next on assistant_turn (assistant, next_at) where state = 'due';
create index assistant_turn_answered on assistant_turn (storefront, term, assistant, model, phrasing, run, answered_at)
where state = 'answered';
create index assistant_turn_ended on assistant_turn (ended_at);

-- A check of one app: the runs that it waits for, its own and those that other checks started.
create table ai_check (
  id text primary key,
  workspace_id int not null references workspace,
  app_id text not null references tracked_app on delete cascade,
  storefronts text[] not null,
  began_at timestamptz not null default now(),
  ended_at timestamptz,
  outcome text check (outcome in ('measured', 'failed')),
  -- The request that took the allowance, to give it back if the check fails.
  request_id text not null,
  returned_at timestamptz,
  constraint ai_check_outcome_when_ended check ((ended_at is null) = (outcome is null))
);
create unique index ai_check_running on ai_check (app_id) where ended_at is null;
create index ai_check_app on ai_check (app_id, began_at);
create index ai_check_began on ai_check (began_at);

create table ai_check_turn (
  check_id text not null references ai_check on delete cascade,
  turn_id bigint not null references assistant_turn on delete cascade,
  -- Whether another check started the run.
  shared boolean not null,
  primary key (check_id, turn_id)
);
create index ai_check_turn_turn on ai_check_turn (turn_id);

-- A text is written once for all callers that request the same text.
create table writer_text (
  kind text not null,
  -- SHA-256 of its inputs. A workspace's own data includes the workspace.
  digest text not null,
  created_at timestamptz not null default now(),
  -- The process that writes it.
  lease uuid,
  lease_until timestamptz,
  -- {value, dropped}. Null: not written yet.
  value jsonb,
  model text,
  version smallint,
  made_at timestamptz,
  -- A hash of the model's answer. The answer is kept like the bodies of sources, so that better checks can judge it
  -- again.
  answer bytea check (octet_length(answer) = 32),
  -- The version of the checks that judged it.
  checks smallint,
  -- Why the latest try gave no text, until the reason was shown.
  failure text check (failure in ('off', 'spent', 'busy', 'unusable')),
  retry_after int,
  primary key (kind, digest),
  constraint writer_text_lease_check check ((lease is null) = (lease_until is null)),
  constraint writer_text_value_check check (
    (value is null) = (made_at is null) and (value is null or model is not null and version is not null)
  )
);
create index writer_text_lease on writer_text (lease) where lease is not null;
create index writer_text_created on writer_text (created_at);

-- Tokens of each UTC day, for all processes together.
create table writer_day (
  day date primary key,
  input bigint not null check (input >= 0),
  output bigint not null check (output >= 0)
);

-- Which text is the translation of a listing for a locale. The text is in writer_text, by its digest.
create table listing_translation (
  app_id text not null references tracked_app on delete cascade,
  locale text not null,
  digest text not null,
  begun_at timestamptz not null default now(),
  -- The allowance that was taken for it.
  allowance text not null check (allowance in ('listingWrites', 'listingWritesEver')),
  unit text not null,
  -- Whether an earlier text relies on the same unit.
  keeps_unit boolean not null,
  primary key (app_id, locale)
);
