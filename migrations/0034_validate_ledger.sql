-- 0033_cached_tokens.sql left this out, because it would have kept the ledger locked while it read it.
alter table ledger validate constraint ledger_is_valid;
