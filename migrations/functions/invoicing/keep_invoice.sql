-- Only a draft changes, and never what it bills. Voiding replaces deleting. Invoices that were never issued are emptied when their
-- client is erased.
create or replace function keep_invoice() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' and new.state = 'draft' then return new; end if;
  if tg_op = 'UPDATE' and (old.state = 'draft' or old.state = 'void' and new.state = 'void' and erasure_is_due(old.client_id))
    and (new.id, new.kind, new.account_id, new.client_id, new.month, new.credits_id, new.currency, new.decimals, new.created_at,
      new.created_by) is not distinct from (old.id, old.kind, old.account_id, old.client_id, old.month, old.credits_id,
      old.currency, old.decimals, old.created_at, old.created_by) then
    return new;
  end if;
  raise exception 'an invoice is changed only while it is a draft, and never deleted' using errcode = 'insufficient_privilege';
end $$;
