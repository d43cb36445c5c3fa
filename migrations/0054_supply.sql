-- The days of supply, which the law requires on every invoice and credit note. Before the issue, only what a person states;
-- then they are frozen. Null in invoices that were issued before.
alter table invoice
  add column supply_from date,
  add column supply_to   date,
  add constraint invoice_supply_is_valid check ((supply_from is null) = (supply_to is null) and supply_from <= supply_to) not valid;
alter table invoice validate constraint invoice_supply_is_valid;

-- What a draft would state: the days that it states itself; or its month; or those of the invoice that it credits; or those of the
-- entries and the letters that its lines bill. Null if it bills none.
create function invoice_supply(p_invoice invoice) returns table (first_day date, last_day date)
language sql stable set search_path from current as $$
  select v.first_day, v.last_day
  from (select coalesce(p_invoice.credits_id, p_invoice.id) as id) subject
    left join invoice o on o.id = p_invoice.credits_id
    cross join lateral (
      select min(coalesce(t.date, e.date, l.month)) as first_day, max(coalesce(t.date, e.date, last_day(l.month))) as last_day
      from invoice_line l left join time_entry t on t.id = l.entry_id left join expense e on e.id = l.entry_id
      where l.invoice_id = subject.id) billed
    cross join lateral (values
      (1, p_invoice.supply_from, p_invoice.supply_to), (2, p_invoice.month, last_day(p_invoice.month)),
      (3, o.supply_from, o.supply_to), (4, o.month, last_day(o.month)), (5, billed.first_day, billed.last_day),
      (6, o.issued_on, o.issued_on)) v (place, first_day, last_day)
  where v.first_day is not null order by v.place limit 1
$$;

-- As in 0023_invoicing.sql, and with the days of supply.
create or replace function create_invoice(p_id uuid, p_invoice jsonb, p_lines jsonb, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  v_new invoice := jsonb_populate_record(null::invoice, p_invoice);
  v_status text;
begin
  if exists (select from invoice where id = p_id) then return 'exists'; end if;
  if v_new.kind = 'credit_note' then
    -- Its payer is that of its invoice, also if the client was deleted since.
    v_status := 'active';
  elsif v_new.client_id is not null then
    select status into v_status from client where id = v_new.client_id and deleted_at is null;
    if v_status = 'archived' then return 'archived'; end if;
  else
    select 'active' into v_status from account where id = v_new.account_id;
  end if;
  if v_status is null then return 'no_payer'; end if;
  insert into invoice (id, kind, account_id, client_id, month, credits_id, currency, decimals, note, buyer_name, buyer_address,
      buyer_tax_number, supply_from, supply_to, net, tax, gross, taxes)
    values (p_id, v_new.kind, v_new.account_id, v_new.client_id, v_new.month, v_new.credits_id, v_new.currency, v_new.decimals,
      v_new.note, v_new.buyer_name, v_new.buyer_address, v_new.buyer_tax_number, v_new.supply_from, v_new.supply_to,
      v_new.net, v_new.tax, v_new.gross, v_new.taxes)
    on conflict (id) do nothing;
  if not found then return 'exists'; end if;
  perform write_invoice_lines(p_id, p_lines);
  perform note_invoice('invoice_created', p_id, p_request, p_address, jsonb_build_object('kind', v_new.kind));
  return 'created';
end $$;

create or replace function change_invoice(p_id uuid, p_version integer, p_invoice jsonb, p_lines jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
  v_new invoice := jsonb_populate_record(null::invoice, p_invoice);
begin
  if v_outcome is not null then return v_outcome; end if;
  delete from invoice_line where invoice_id = p_id;
  perform write_invoice_lines(p_id, p_lines);
  update invoice set note = v_new.note, buyer_name = v_new.buyer_name, buyer_address = v_new.buyer_address,
      buyer_tax_number = v_new.buyer_tax_number, supply_from = v_new.supply_from,
      supply_to = v_new.supply_to, net = v_new.net, tax = v_new.tax, gross = v_new.gross, taxes = v_new.taxes,
      version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_changed', p_id, p_request, p_address, jsonb_build_object('version', (p_version + 1)::text));
  return 'changed';
end $$;

-- As in 0027_partial_credits.sql. The days of supply are those of the draft, or the day of issue.
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
      buyer_tax_number = coalesce(buyer_tax_number, v_tax_number), issued_on = p_issued_on, due_on = p_due_on,
      supply_from = coalesce(v_supply.first_day, p_issued_on), supply_to = coalesce(v_supply.last_day, p_issued_on),
      issued_at = record_time(), issued_by = portal_person(), version = version + 1, updated_at = record_time(),
      updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_issued', p_id, p_request, p_address, jsonb_build_object('number', v_number));
  return 'issued';
end $$;

do $$
begin
  execute format('grant insert (supply_from, supply_to), update (supply_from, supply_to) on invoice to %s', portal_role('partner'));
end $$;
