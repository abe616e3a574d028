-- Questions that went out to people over the tool endpoint, for as long as whoever asked waits: the answer comes with
-- another request, maybe to another process.
create table tool_question (
  id text primary key,
  key_id int not null references api_key (id) on delete cascade,
  asked_at timestamptz not null default now(),
  -- null = not yet
  answer text check (answer in ('accept', 'decline', 'cancel'))
);
create index tool_question_asked on tool_question (asked_at);
