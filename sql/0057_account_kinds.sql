-- Accounts are of several kinds, which the program lists; each reads one of what its key opens, and some have days and money
-- of their own.

alter table connected_account drop constraint connected_account_kind_check;
alter table connected_account rename column vendor to part;
-- the time zone of its days, and what it pays in; null = each report says its own
alter table connected_account add column zone text;
alter table connected_account add column currency text;
