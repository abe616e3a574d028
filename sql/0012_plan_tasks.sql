-- Every task that the weekly plan gave out, as it was told: what then happened can be held against what was expected.
create table plan_task (
  app_id text not null references tracked_app on delete cascade,
  -- of what it proposes: src/formulas/plan-tasks.ts
  task_id text not null,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  field text not null check (field in ('name', 'subtitle')),
  current_text text not null,
  proposed_text text not null,
  -- when the page that said so was read
  page_seen_at timestamptz not null,
  -- the keywords it is about, with rank, popularity and the rank expected, as they were when it was told last
  keywords jsonb not null,
  expected_value real not null,
  goal text,
  first_told_at timestamptz not null default now(),
  last_told_at timestamptz not null default now(),
  primary key (app_id, task_id)
);
