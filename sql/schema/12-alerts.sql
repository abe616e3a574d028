-- Alerts: what a measured day shows compared with the measured day before it, and the channels to which they are
-- delivered.

-- Each finding is stored once. Its sentence is built when it is shown.
create table alert (
  id bigint generated always as identity primary key,
  workspace_id int not null references workspace,
  -- Null: it concerns the whole workspace.
  app_id text references tracked_app on delete cascade,
  type text not null check (type in (
    'dropped_out', 'rank_drop', 'rank_rise', 'entered', 'rival_passed', 'rival_beaten', 'rival_event', 'asa_rule',
    'chart_drop', 'chart_enter', 'featured', 'review_wave', 'ai_mention_lost', 'off_topic', 'weekly', 'discovery',
    'ads_fee'
  )),
  -- Null: it concerns no single store.
  platform text check (platform in ('ios', 'android')),
  storefront text,
  -- A term, a rival and a term, a chart or a change; '' for types that need none.
  subject text not null,
  -- The measured day (UTC) that shows it.
  day date not null,
  -- When the reading that shows it was seen.
  at timestamptz not null,
  found_at timestamptz not null default now(),
  -- The values before and after.
  facts jsonb not null,
  origin text not null default 'own',
  -- Whether an import found it in days that were long past. Such an alert is in the feed, but is not delivered.
  history boolean not null default false,
  read_at timestamptz,
  -- When later readings contradicted the finding. It stays in the feed if it was read or queued for a channel, else it
  -- is deleted.
  withdrawn_at timestamptz,
  constraint alert_natural_key
    unique nulls not distinct (workspace_id, app_id, type, platform, storefront, subject, day)
);
create index alert_feed on alert (workspace_id, at desc, id desc);
create index alert_of_app on alert (app_id, at desc, id desc);
create index alert_unread on alert (workspace_id, app_id) where read_at is null;
create index alert_at on alert (at, id);
-- Finds the alerts that were found since a person's last visit.
create index alert_found on alert (workspace_id, found_at desc, id desc) where not history;
-- Finds read alerts, which are few in a feed, to mark them as unread again.
create index alert_read on alert (workspace_id, at desc, id desc) where read_at is not null;

-- A rule delivers alerts of one type, which are in the feed with or without a rule. An option is null where it has no
-- meaning.
create table alert_rule (
  workspace_id int not null references workspace,
  type text not null check (type in (
    'dropped_out', 'rank_drop', 'rank_rise', 'entered', 'rival_passed', 'rival_beaten', 'rival_event', 'asa_rule',
    'chart_drop', 'chart_enter', 'featured', 'review_wave', 'ai_mention_lost', 'off_topic', 'weekly'
  )),
  -- Empty: delivered nowhere.
  channels text[] not null check (
    channels <@ array['telegram', 'slack', 'webhook', 'ntfy', 'discord', 'teams', 'email']
  ),
  drop_by smallint check (drop_by between 3 and 50),
  keyword_scope text check (keyword_scope in ('all', 'tagged')),
  rival_scope text check (rival_scope in ('all', 'manual')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The key that last wrote the rule.
  created_by int not null references api_key,
  primary key (workspace_id, type),
  constraint alert_rule_drop_by_only_for_rank_drop check ((drop_by is not null) = (type = 'rank_drop'))
);

-- The range of imported days of a storefront, as far back as alerts are kept. Alerts of these days are history: they
-- are derived with the present rivals and categories, and again when those change.
create table imported_days (
  app_id text not null references tracked_app on delete cascade,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  from_day date not null,
  to_day date not null,
  -- The rivals followed and the app's categories when the alerts were derived. Null if they were not derived yet.
  derived_with jsonb,
  primary key (app_id, platform, storefront),
  constraint imported_days_in_order check (from_day <= to_day)
);

create table channel (
  id text primary key,
  workspace_id int not null references workspace,
  kind text not null check (kind in ('telegram', 'slack', 'webhook', 'ntfy', 'discord', 'teams', 'email')),
  -- The part of the address that may be shown. Many services put a secret into the path: only the host is readable.
  shown text not null,
  -- The member who gets the mail of a channel of kind 'email'. `shown` is the member's confirmed address and changes
  -- with it. The channel ends with the membership or the address.
  person_id int,
  -- The encrypted address and secret.
  sealed text not null,
  -- A webhook's secret before it was rotated, which also signs until then.
  sealed_earlier text,
  earlier_until timestamptz,
  -- The address shown before the receiver moved, such as a group of Telegram that became a supergroup.
  moved_from text,
  moved_at timestamptz,
  created_at timestamptz not null default now(),
  -- Why nothing is sent any more. Null if the channel is on.
  disabled text,
  disabled_at timestamptz,
  last_ok timestamptz,
  last_failure timestamptz,
  -- The last failure, and the number of failures in a row.
  failure text,
  failures int not null default 0 check (failures >= 0),
  -- Nothing is sent before this time, because the receiver asked for a pause or failed.
  paused_until timestamptz,
  -- When something is to be sent next. Null if nothing waits.
  next_at timestamptz,
  -- The process that is sending. Only one process sends at a time.
  lease uuid,
  lease_until timestamptz,
  constraint channel_earlier_until_check check ((sealed_earlier is null) = (earlier_until is null)),
  constraint channel_moved_check check ((moved_from is null) = (moved_at is null)),
  constraint channel_disabled_at_check check ((disabled is null) = (disabled_at is null)),
  constraint channel_lease_check check ((lease is null) = (lease_until is null)),
  constraint channel_person_id_check check ((kind = 'email') = (person_id is not null)),
  foreign key (person_id, workspace_id) references membership on delete cascade,
  foreign key (person_id, shown) references mail_address (person_id, address) on update cascade on delete cascade
);
create index channel_person on channel (person_id, workspace_id) where person_id is not null;
create index channel_workspace on channel (workspace_id, created_at, id);
create index channel_due on channel (next_at, id) where next_at is not null and disabled is null;

-- Alerts that some rule may want delivered, from the transaction that found them until their deliveries are written.
create table alert_to_deliver (
  alert_id bigint primary key references alert on delete cascade
);

create table delivery (
  -- The id of the delivery, the same for every attempt.
  id text primary key,
  channel_id text not null references channel on delete cascade,
  alert_id bigint not null references alert on delete cascade,
  state text not null check (state in ('waiting', 'delivered', 'undelivered')),
  -- Attempts that failed or delivered the alert.
  attempts int not null default 0 check (attempts >= 0),
  created_at timestamptz not null default now(),
  -- When the delivery is tried next. Null once it has ended.
  next_at timestamptz,
  ended_at timestamptz,
  -- How the last attempt failed.
  failure text,
  constraint delivery_natural_key unique (channel_id, alert_id),
  constraint delivery_next_at_check check ((state = 'waiting') = (next_at is not null)),
  constraint delivery_ended_at_check check ((state = 'waiting') = (ended_at is null))
);
create index delivery_waiting on delivery (channel_id, (attempts > 0), alert_id) where state = 'waiting';
create index delivery_next on delivery (channel_id, next_at) where state = 'waiting';
create index delivery_undelivered on delivery (channel_id, ended_at) where state = 'undelivered';
create index delivery_alert on delivery (alert_id, channel_id);

-- A person's summary of a workspace by mail. No row: the person gets none.
create table digest (
  person_id int not null,
  workspace_id int not null,
  every text not null check (every in ('day', 'week')),
  -- The hour at which it is sent, in the person's time zone.
  hour smallint not null check (hour between 0 and 23),
  zone text not null check (length(zone) between 1 and 64),
  -- Periods that end before this time are not sent.
  since timestamptz not null default now(),
  primary key (person_id, workspace_id),
  foreign key (person_id, workspace_id) references membership on delete cascade
);

-- Each digest, stored when a process begins to write it. The natural key makes it one mail per person and period.
create table digest_mail (
  -- Also in the Message-ID.
  id text primary key,
  person_id int not null,
  workspace_id int not null,
  every text not null check (every in ('day', 'week')),
  -- The last UTC day that it is about.
  day date not null,
  -- writing: nothing was handed to the mail server. sending: it may have been; if the process ends then, the state
  -- becomes unknown and the mail is not sent again.
  state text not null check (state in ('writing', 'sending', 'sent', 'skipped', 'failed', 'unknown')),
  attempts smallint not null default 0 check (attempts >= 0),
  -- The process that is writing; after `lease_until` another one may take over. Null: the digest waits for `next_at`.
  lease uuid,
  lease_until timestamptz,
  next_at timestamptz not null default now(),
  -- Why it was not sent.
  failure text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint digest_mail_natural_key unique (person_id, workspace_id, every, day),
  constraint digest_mail_lease_check check ((lease is null) = (lease_until is null)),
  foreign key (person_id, workspace_id) references membership on delete cascade
);
create index digest_mail_open on digest_mail (next_at, id) where state in ('writing', 'sending');
create index digest_mail_created on digest_mail (created_at, id);

-- The tokens of the links that end a subscription without a sign-in, one per mail.
create table mail_unsubscribe (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  person_id int not null,
  workspace_id int not null,
  -- The channel whose alerts the mail contained. Null: the mail was a summary.
  channel_id text references channel on delete cascade,
  created_at timestamptz not null default now(),
  foreign key (person_id, workspace_id) references membership on delete cascade
);
create index mail_unsubscribe_channel on mail_unsubscribe (channel_id) where channel_id is not null;
create index mail_unsubscribe_created on mail_unsubscribe (created_at, token_sha256);

-- Runs in the transaction of the finding, so that every alert is delivered, in whatever order ids are committed.
create function queue_found_alerts() returns trigger
language plpgsql as $$
begin
  insert into alert_to_deliver (alert_id)
  select f.id
  from found f
  where f.origin = 'own' and not f.history
    and exists (select from alert_rule r where r.workspace_id = f.workspace_id and r.type = f.type)
  order by f.id;
  return null;
end $$;

create trigger alerts_are_delivered
after insert on alert
referencing new table as found
for each statement execute function queue_found_alerts();
