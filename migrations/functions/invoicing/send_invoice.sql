-- Keeps a mail, which an instance then queues. The lock is that of payments and credit notes. Outcomes: sent; exists, if a
-- repeated request or another instance kept it before; unknown; not_issued; not_overdue; and disputed, for a reminder.
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
