-- Credit notes for parts of a line sum to the line when nothing of it is left. Each was rounded by itself, so a cent could remain
-- that no credit note covers, and the month of an account stayed billed. Now all parts together are rounded as one amount,
-- and so are their taxes.

-- The nearest integer to a quotient that is not negative; of two, the even one.
create function half_even(p_dividend numeric, p_divisor numeric) returns numeric language sql immutable
  return div(p_dividend, p_divisor) + case
    when 2 * (p_dividend % p_divisor) < p_divisor then 0
    when 2 * (p_dividend % p_divisor) > p_divisor then 1
    else div(p_dividend, p_divisor) % 2 end;

-- Why the draft of a credit note cannot be issued, or null. exceeds: more of a line than earlier credit notes left.
-- credited_since: its amounts were rounded after other credit notes than those that are issued now.
create function credit_obstacle(p_draft invoice) returns text
language plpgsql stable set search_path from current as $$
declare
  v_unit constant numeric := power(10::numeric, 12 - p_draft.decimals)::numeric(38, 0);
  v_more boolean;
  v_other boolean;
begin
  select bool_or(o.position is null or l.quantity > o.quantity),
      bool_or(l.net <> half_even(l.quantity * o.unit_price, v_unit) * v_unit) into v_more, v_other
    from (select l.credits_position as position, sum(l.quantity) as quantity, sum(l.net) as net
      from invoice c join invoice_line l on l.invoice_id = c.id
      where c.credits_id = p_draft.credits_id and (c.state = 'issued' or c.id = p_draft.id) group by 1) l
    left join invoice_line o on o.invoice_id = p_draft.credits_id and o.position = l.position;
  if v_more then return 'exceeds'; end if;
  if v_other or exists (
    select from invoice c cross join lateral jsonb_to_recordset(c.taxes) as t(category text, rate numeric, net numeric, tax numeric)
    where c.credits_id = p_draft.credits_id and (c.state = 'issued' or c.id = p_draft.id) group by t.category, t.rate
    having sum(t.tax) <> half_even(sum(t.net) * t.rate, 10000 * v_unit) * v_unit) then return 'credited_since'; end if;
  return null;
end $$;

-- As before, with the two rules above in place of one for the sum of all credit notes, which follows from them.
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
  update invoice set state = 'issued', number = v_number, series = p_series, series_number = v_last, seller = p_seller,
      buyer_name = coalesce(buyer_name, v_name), buyer_address = coalesce(buyer_address, v_postal),
      buyer_tax_number = coalesce(buyer_tax_number, v_tax_number), issued_on = p_issued_on, due_on = p_due_on,
      issued_at = record_time(), issued_by = portal_person(), version = version + 1, updated_at = record_time(),
      updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_issued', p_id, p_request, p_address, jsonb_build_object('number', v_number));
  return 'issued';
end $$;
