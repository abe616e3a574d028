-- How many pieces one message is about; its price is of one piece.
alter table billing_event add column quantity int not null default 1;
