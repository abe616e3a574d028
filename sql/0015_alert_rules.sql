-- What a workspace wants delivered, and the rivals it does not want to see.

-- A rule adds delivery to what the feed tells anyway; one of each type. An option is null where it means nothing.
create table alert_rule (
  workspace_id int not null references workspace,
  type text not null check (type in (
    'dropped_out', 'rank_drop', 'rank_rise', 'entered', 'rival_passed', 'rival_beaten', 'rival_event', 'asa_rule',
    'chart_drop', 'chart_enter', 'featured', 'review_wave', 'ai_mention_lost', 'off_topic', 'weekly'
  )),
  -- empty = delivered nowhere
  channels text[] not null check (channels <@ array['telegram', 'slack', 'webhook']),
  drop_by smallint check (drop_by between 3 and 50),
  keyword_scope text check (keyword_scope in ('all', 'tagged')),
  rival_scope text check (rival_scope in ('all', 'manual')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- the key that wrote it last
  created_by int not null references api_key,
  primary key (workspace_id, type),
  check ((drop_by is not null) = (type = 'rank_drop'))
);

-- "ios:<store id>" or "android:<package>", like those named by hand, of which none is hidden.
alter table tracked_app
add hidden_rivals text[],
add check (not (manual_rivals && hidden_rivals));

-- What was read, for who marks it as unread again: few of a feed that nobody reads.
create index alert_read on alert (workspace_id, at desc, id desc) where read_at is not null;
