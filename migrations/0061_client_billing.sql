-- The billing details of a client: what every invoice to it states. A new draft takes a copy, so that no later change reaches it.
alter table client
  add column vat_number       text check (length(vat_number) between 1 and 50),
  add column billing_street   text check (length(billing_street) between 1 and 200),
  add column billing_extra    text check (length(billing_extra) between 1 and 200),
  add column billing_postcode text check (length(billing_postcode) between 1 and 20),
  add column billing_city     text check (length(billing_city) between 1 and 100),
  -- ISO 3166-1.
  add column billing_country  text check (billing_country ~ '^[A-Z]{2}$'),
  add column buyer_reference  text check (length(buyer_reference) between 1 and 100),
  add column order_number     text check (length(order_number) between 1 and 100),
  add column days_to_pay      integer check (days_to_pay between 0 and 365);

alter table invoice
  -- The parts of buyer_address, {street, extra, postcode, city, country}; null if it was written in a draft.
  add column buyer_place     jsonb check (buyer_place is null or (jsonb_typeof(buyer_place) = 'object' and buyer_address is not null)),
  add column buyer_reference text check (length(buyer_reference) between 1 and 100),
  add column order_number    text check (length(order_number) between 1 and 100),
  -- Null in a draft: as the configuration has it when the invoice is issued.
  add column days_to_pay     integer check (days_to_pay between 0 and 365);

-- As in 0054_supply.sql, and with what billing details add to an invoice.
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
      buyer_tax_number, buyer_place, buyer_reference, order_number, days_to_pay, supply_from, supply_to, net, tax, gross, taxes)
    values (p_id, v_new.kind, v_new.account_id, v_new.client_id, v_new.month, v_new.credits_id, v_new.currency, v_new.decimals,
      v_new.note, v_new.buyer_name, v_new.buyer_address, v_new.buyer_tax_number, v_new.buyer_place, v_new.buyer_reference,
      v_new.order_number, v_new.days_to_pay, v_new.supply_from, v_new.supply_to, v_new.net, v_new.tax, v_new.gross, v_new.taxes)
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
      buyer_tax_number = v_new.buyer_tax_number, buyer_place = v_new.buyer_place, buyer_reference = v_new.buyer_reference,
      order_number = v_new.order_number, days_to_pay = v_new.days_to_pay, supply_from = v_new.supply_from,
      supply_to = v_new.supply_to, net = v_new.net, tax = v_new.tax, gross = v_new.gross, taxes = v_new.taxes,
      version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_changed', p_id, p_request, p_address, jsonb_build_object('version', (p_version + 1)::text));
  return 'changed';
end $$;

-- As in 0054_supply.sql, but the days to pay of the draft come before those of the configuration.
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

-- As in 0032_billed_entries.sql, but also empties the columns above.
create or replace function erase_client(p_client uuid, p_wait interval) returns text language plpgsql set search_path from current as $$
declare
  v_client client;
  v_erasure erasure;
  v_sealed bigint;
  v_nouns uuid[];
  v_revisions bigint;
  v_remains bytea;
begin
  perform set_config('tollgate.proof', 'on', true);
  -- Everything that is added to a record waits for this lock, and then fails.
  select * into v_client from client where id = p_client for update;
  if not found then return 'not_due'; end if;
  select * into v_erasure from erasure
    where client_id = p_client and withdrawn_at is null and due_at <= clock_timestamp()
      and scheduled_at + p_wait <= clock_timestamp()
      -- The rule is about clients that are archived or deleted.
      and (scheduled_by is not null or v_client.status = 'archived' or v_client.deleted_at is not null)
    for update;
  if not found then return 'not_due'; end if;
  if exists (select from draft where client_id = p_client and status = 'running')
    or exists (select from hold where client_id = p_client) then
    update draft set stop_asked_at = clock_timestamp()
      where client_id = p_client and status = 'running' and stop_asked_at is null;
    return 'busy';
  end if;

  -- Sealing stops until this ends, so a revision is either sealed with its contents or without.
  select upto into v_sealed from seal_chain where name = 'revision' for update;
  v_nouns := array(select id from note where client_id = p_client union all
    select id from dispute where client_id = p_client union all
    select id from letter where client_id = p_client union all
    select id from time_entry where client_id = p_client union all
    select id from expense where client_id = p_client union all select p_client);
  with sealed as materialized (
    select r.number, d.digest
    from revision r
      cross join lateral (select columns from seal where chain = 'revision' and upto >= r.number order by upto limit 1) s
      cross join lateral row_digests('revision', 'number', s.columns, r.number - 1, r.number) d
    where r.noun_id = any (v_nouns) and r.number <= v_sealed)
  update revision r set data = '{}', erased = (select digest from sealed where sealed.number = r.number)
    where r.noun_id = any (v_nouns);

  -- Replies that are stored for repeated requests. A scalar subquery, because a join could read the whole ledger.
  delete from idempotency i
    where (select l.client_id from ledger l where l.request_id = i.hold_id limit 1) = p_client;
  delete from draft where client_id = p_client;
  delete from letter where client_id = p_client;
  delete from dispute where client_id = p_client;
  delete from note where client_id = p_client;
  delete from time_entry where client_id = p_client;
  delete from expense where client_id = p_client;

  perform from invoice where client_id = p_client and state <> 'issued' for update;
  delete from invoice_line using invoice i
    where i.id = invoice_line.invoice_id and i.client_id = p_client and i.state <> 'issued';
  update invoice set state = 'void', note = '', buyer_name = null, buyer_address = null, buyer_tax_number = null,
    buyer_place = null, buyer_reference = null, order_number = null, days_to_pay = null, net = 0, tax = 0, gross = 0, taxes = '[]', version = version + 1, updated_at = record_time(), updated_by = null
    where client_id = p_client and state <> 'issued';
  delete from unbilled where client_id = p_client;

  select count(*), sha256(string_agg(remains_of(r), ''::bytea order by r.number)) into v_revisions, v_remains
    from revision r where r.noun_id = any (v_nouns);
  update client set name = 'Erased client', reference = null, email = null, address = null, vat_number = null,
    billing_street = null, billing_extra = null, billing_postcode = null, billing_city = null, billing_country = null,
    buyer_reference = null, order_number = null, days_to_pay = null, version = version + 1, updated_at = record_time(), deleted_at = coalesce(deleted_at, record_time()) where id = p_client;
  insert into erased_client (client_id, reason, scheduled_by, scheduled_at, revisions, remains)
    values (p_client, v_erasure.reason, v_erasure.scheduled_by, v_erasure.scheduled_at, v_revisions, v_remains);
  insert into audit (action, outcome, actor, client_id, noun, noun_id)
    values ('client_erased', 'allowed', 'service', p_client, 'client', p_client);
  delete from erasure where client_id = p_client;
  return 'erased';
end $$;

do $$
declare
  v_client constant text := 'vat_number, billing_street, billing_extra, billing_postcode, billing_city, billing_country, buyer_reference,
    order_number, days_to_pay';
  v_invoice constant text := 'buyer_place, buyer_reference, order_number, days_to_pay';
begin
  execute format('grant insert (%1$s), update (%1$s) on client to %2$s, %3$s', v_client, portal_role('consultant'), portal_role('partner'));
  execute format('grant insert (%1$s), update (%1$s) on invoice to %2$s', v_invoice, portal_role('partner'));
end $$;
