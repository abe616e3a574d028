-- The demo shows an owner's numbers too: invented ones, of an account that no key opens and that is never read.

alter table connected_account drop constraint connected_account_state_check;
alter table connected_account add constraint connected_account_state_check check (
  state in ('connecting', 'ok', 'limited', 'agreement_required', 'revoked', 'paused', 'removed', 'demo')
);
alter table connected_account drop constraint connected_account_check1;
alter table connected_account add constraint connected_account_sealed_check check (
  (sealed is null) = (state in ('removed', 'demo'))
);
alter table connected_account add constraint connected_account_demo_check check (
  state <> 'demo' or (next_at is null and not writes)
);
-- loading the demo again, from several processes at once too, makes no second one
create unique index connected_account_demo_idx on connected_account (workspace_id, kind) where state = 'demo';
