-- An answer to another question than was asked (another term, country, app or chart) is a failure of its own: neither an
-- absence nor a page that the parser does not know.
alter table attempt
  drop constraint attempt_outcome_check,
  add constraint attempt_outcome_check
    check (outcome in ('blocked', 'rate_limited', 'not_found', 'changed', 'mismatched', 'failed'));

-- Such answers since the last read that was answered.
alter table source_state add mismatched int not null default 0 check (mismatched >= 0);

-- Which country a host was asked for from an address, and which its page named: what asking for a country does is learnt.
create table answered_country (
  upstream text not null,
  egress text not null,
  asked text not null,
  answered text not null,
  reads bigint not null default 1 check (reads > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (upstream, egress, asked, answered)
);
