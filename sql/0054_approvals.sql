-- Writes that a person must approve outside the assistant before their confirm.

-- Names of actions, or "all". What the workspace asks for is asked of each of its keys.
alter table workspace
  add approve_outside text[] not null default '{}',
  -- the answer to a question that the client shows its person counts as well
  add asking_approves boolean not null default false;
alter table api_key add approve_outside text[] not null default '{}';

create table approval (
  id text primary key check (id ~ '^ap_'),
  token_sha256 bytea not null unique references confirm_token on delete cascade,
  workspace_id int not null references workspace,
  -- what the person is shown: the preview as it was answered, with its credits
  shown jsonb not null,
  created_at timestamptz not null default now(),
  -- null = it waits
  verdict text check (verdict in ('approved', 'declined')),
  -- who said so, as the audit names them
  decided_by text,
  decided_at timestamptz,
  check ((verdict is null) = (decided_at is null)),
  check ((verdict is null) = (decided_by is null))
);
create index approval_workspace on approval (workspace_id, created_at, id);

-- Who approved it outside the assistant; null = nobody was asked.
alter table audit add approved_by text;
