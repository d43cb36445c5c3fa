-- The lock lets no line change while its invoice is issued.
create or replace function keep_invoice_line() returns trigger language plpgsql set search_path from current as $$
declare
  v_line invoice_line;
begin
  if tg_op = 'DELETE' then v_line := old; else v_line := new; end if;
  perform from invoice where id = v_line.invoice_id
    and (state = 'draft' or state = 'void' and tg_op = 'DELETE' and erasure_is_due(client_id)) for share;
  if not found or tg_op = 'UPDATE' then
    raise exception 'lines are replaced only while their invoice is a draft' using errcode = 'insufficient_privilege';
  end if;
  return v_line;
end $$;
