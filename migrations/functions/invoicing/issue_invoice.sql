-- Gives a draft the next number of its series, the seller and the buyer of this moment, and freezes it. The days of supply are those of
-- the draft, or the day of issue; the days to pay are those of the draft, or of the configuration. The row of the series is locked until
-- the end of the transaction, so a rollback leaves no gap. Outcomes: issued; empty; archived; those of credit_obstacle(); and those of
-- lock_invoice_draft().
create or replace function issue_invoice(p_id uuid, p_version integer, p_series text, p_digits integer,
  p_issued_on date, p_due_on date, p_seller jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
  v_draft invoice;
  v_name text;
  v_postal text;
  v_tax_number text;
  v_last bigint;
  v_number text;
  v_supply record;
begin
  if v_outcome is not null then return v_outcome; end if;
  select * into v_draft from invoice where id = p_id;
  if not exists (select from invoice_line where invoice_id = p_id) then return 'empty'; end if;
  if v_draft.client_id is not null then
    -- The client of a credit note may be deleted: it is addressed as its invoice was.
    select name, address into v_name, v_postal from client
      where id = v_draft.client_id and deleted_at is null and status = 'active' for share;
    if not found and v_draft.kind = 'invoice' then return 'archived'; end if;
  else
    select coalesce(billing_name, name), billing_address, billing_tax_number into v_name, v_postal, v_tax_number
      from account where id = v_draft.account_id;
  end if;
  if v_draft.credits_id is not null then
    perform from invoice where id = v_draft.credits_id for no key update;
    v_outcome := credit_obstacle(v_draft);
    if v_outcome is not null then return v_outcome; end if;
    -- A credit note is addressed as its invoice was, also where that says nothing.
    v_postal := null;
    v_tax_number := null;
  end if;
  insert into invoice_series as s (name, last) values (p_series, 1)
    on conflict (name) do update set last = s.last + 1 returning s.last into v_last;
  v_number := replace(p_series, '{number}', lpad(v_last::text, greatest(p_digits, length(v_last::text)), '0'));
  select * into v_supply from invoice_supply(v_draft);
  update invoice set state = 'issued', number = v_number, series = p_series, series_number = v_last, seller = p_seller,
      buyer_name = coalesce(buyer_name, v_name), buyer_address = coalesce(buyer_address, v_postal),
      buyer_tax_number = coalesce(buyer_tax_number, v_tax_number), issued_on = p_issued_on,
      due_on = coalesce(p_issued_on + case kind when 'invoice' then days_to_pay end, p_due_on),
      supply_from = coalesce(v_supply.first_day, p_issued_on), supply_to = coalesce(v_supply.last_day, p_issued_on),
      issued_at = record_time(), issued_by = portal_person(), version = version + 1, updated_at = record_time(),
      updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_issued', p_id, p_request, p_address, jsonb_build_object('number', v_number));
  return 'issued';
end $$;
