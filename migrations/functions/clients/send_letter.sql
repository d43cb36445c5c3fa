-- Keeps mails with a letter, which an instance then queues, and marks an approved letter as sent. Outcomes: sent; exists, if a repeated
-- request kept them before; unknown; archived, for the client or the letter; draft; stale, if the letter or the client is no longer in the
-- version that the file was written from; mailed, if there are mails that the sender does not know of; full.
create or replace function send_letter(p_client uuid, p_letter uuid, p_mail jsonb, p_content bytea, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_letter letter;
  v_client client;
  v_sending constant uuid := p_mail ->> 'sending_id';
  v_event constant jsonb := jsonb_build_object('mail', v_sending::text);
begin
  -- In the order of every edit: the item, then its client.
  select * into v_letter from letter where id = p_letter and client_id = p_client for no key update;
  select * into v_client from client where id = p_client and deleted_at is null for no key update;
  if v_letter.id is null or v_client.id is null then return 'unknown'; end if;
  if exists (select from letter_mail where sending_id = v_sending and letter_id = p_letter) then return 'exists'; end if;
  if v_client.status <> 'active' or v_letter.archived_at is not null then return 'archived'; end if;
  if v_letter.status = 'draft' then return 'draft'; end if;
  if v_letter.version <> (p_mail ->> 'version')::integer
    or p_content is not null and v_client.version <> (p_mail ->> 'client_version')::integer then return 'stale'; end if;
  if (select count(*) from letter_mail where letter_id = p_letter) > (p_mail ->> 'mails')::integer then return 'mailed'; end if;
  if (select count(*) from letter_mail where letter_id = p_letter) + jsonb_array_length(p_mail -> 'to') > 200 then return 'full'; end if;
  if v_letter.status = 'approved' then
    update letter set status = 'sent', version = version + 1, updated_at = record_time(), updated_by = portal_person()
      where id = p_letter returning * into v_letter;
    insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
      values ('letter_sent', 'allowed', p_client, 'letter', p_letter, p_request, p_address,
        v_event || jsonb_build_object('version', v_letter.version::text, 'fields', 'status'));
  end if;
  insert into letter_file (letter_id, client_id, name, content, digest)
    select p_letter, p_client, p_mail ->> 'file', p_content, sha256(p_content) where p_content is not null
    on conflict (letter_id) do nothing;
  with kept as (
    insert into letter_mail (id, client_id, letter_id, sending_id, contact_id, recipient, subject, message)
      select (t ->> 'id')::uuid, p_client, p_letter, v_sending, (t ->> 'contact')::uuid, t ->> 'email', p_mail ->> 'subject',
        p_mail ->> 'message'
      from jsonb_array_elements(p_mail -> 'to') t returning id)
  insert into letter_mail_end (mail_id, client_id) select id, p_client from kept;
  insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    values ('letter_mailed', 'allowed', p_client, 'letter', p_letter, p_request, p_address,
      v_event || jsonb_build_object('recipients', jsonb_array_length(p_mail -> 'to')::text));
  return 'sent';
end $$;
