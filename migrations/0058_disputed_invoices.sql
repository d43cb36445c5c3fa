-- Reminders of an invoice wait while its client disputes it.

-- Whether what a dispute says of its invoice is this number.
create function names_invoice(p_text text, p_number text) returns boolean language sql immutable parallel safe
  return lower(btrim(p_text)) = lower(p_number);

-- Whether an open dispute of the client names the invoice, by its number. Only with `tollgate.proof` does the owner, who queues mails, see
-- records.
create function is_disputed(p_invoice invoice) returns boolean language plpgsql set search_path from current as $$
declare
  v_proof constant text := coalesce(current_setting('tollgate.proof', true), '');
  v_is_disputed boolean;
begin
  perform set_config('tollgate.proof', 'on', true);
  v_is_disputed := exists (select from dispute d where d.client_id = p_invoice.client_id and d.status = 'open'
    and d.archived_at is null and names_invoice(d.invoice, p_invoice.number));
  perform set_config('tollgate.proof', v_proof, true);
  return v_is_disputed;
end $$;

-- The issued invoice or credit note of the client with this number, the latest if only its case differs from that of another, for those
-- who may read invoices; null for others.
create function disputed_invoice(p_client uuid, p_number text) returns uuid language plpgsql stable set search_path from current as $$
begin
  if not has_table_privilege('invoice', 'select') then return null; end if;
  return (select i.id from invoice i where i.client_id = p_client and names_invoice(p_number, i.number) order by i.id desc limit 1);
end $$;

-- As before, with the outcome disputed, for a reminder.
create or replace function send_invoice(p_invoice uuid, p_mail jsonb, p_file text, p_content bytea, p_today date, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_invoice invoice;
  v_mail invoice_mail := jsonb_populate_record(null::invoice_mail, p_mail);
begin
  select * into v_invoice from invoice where id = p_invoice for no key update;
  if v_invoice.id is null then return 'unknown'; end if;
  if exists (select from invoice_mail m where m.id = v_mail.id
    or (m.invoice_id = p_invoice and m.reminder_days >= v_mail.reminder_days)) then return 'exists'; end if;
  if v_invoice.state <> 'issued' then return 'not_issued'; end if;
  if v_mail.kind = 'reminder' and not is_overdue(v_invoice, p_today) then return 'not_overdue'; end if;
  if v_mail.kind = 'reminder' and is_disputed(v_invoice) then return 'disputed'; end if;
  if p_content is not null then
    insert into invoice_file (invoice_id, name, content, digest) values (p_invoice, p_file, p_content, sha256(p_content))
      on conflict (invoice_id) do nothing;
  end if;
  insert into invoice_mail (id, invoice_id, kind, reminder_days, recipient, copy_to, subject, message, digest)
    select v_mail.id, p_invoice, v_mail.kind, v_mail.reminder_days, v_mail.recipient, v_mail.copy_to, v_mail.subject,
      v_mail.message, f.digest from invoice_file f where f.invoice_id = p_invoice;
  insert into invoice_mail_end (mail_id) values (v_mail.id);
  perform note_invoice(case v_mail.kind when 'invoice' then 'invoice_sent' else 'invoice_reminded' end, p_invoice, p_request,
    p_address, jsonb_build_object('mail', v_mail.id::text));
  return 'sent';
end $$;
