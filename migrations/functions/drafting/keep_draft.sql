-- Puts the text of a charged draft on the record, as the person of the transaction: row-level security decides whether
-- they may. The text becomes a new letter, or replaces that of the letter to write anew if this is still a draft of the
-- same version. Outcomes: kept; ended before; uncharged; no_text, if there is no stored reply; archived; and out_of_reach.
create or replace function keep_draft(p_draft uuid, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  d draft;
  v_client text;
  v_reply record;
  v_status text;
  v_letter uuid;
  v_version integer;
begin
  select * into d from draft where id = p_draft and created_by = portal_person() and is_active(created_by);
  select c.status into v_client from client c where c.id = d.client_id and c.deleted_at is null;
  if v_client is null then return 'out_of_reach'; end if;
  if v_client <> 'active' then return 'archived'; end if;
  select * into v_reply from open_draft(p_draft);
  if not found then return 'ended'; end if;
  if not v_reply.charged then return 'uncharged'; end if;
  if v_reply.reply is null then return 'no_text'; end if;
  v_status := case v_reply.stop_reason when 'cancelled' then 'stopped' else 'complete' end;
  if v_reply.reply !~ '\S' then
    perform end_draft(p_draft, v_status, null, null);
    return 'kept';
  end if;

  select id, version + 1 into v_letter, v_version from letter
    where id = d.rewrites and version = d.rewrites_version and status = 'draft' and archived_at is null
    for no key update;
  perform end_draft(p_draft, v_status, coalesce(v_letter, p_draft), null);
  if v_letter is not null then
    update letter set subject = d.subject, body = v_reply.reply, version = v_version, updated_at = record_time(),
      updated_by = portal_person() where id = v_letter;
  else
    v_letter := p_draft;
    v_version := 1;
    insert into letter (id, client_id, subject, body) values (v_letter, d.client_id, d.subject, v_reply.reply);
  end if;
  insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    values ('letter_drafted', 'allowed', d.client_id, 'letter', v_letter, p_request, p_address,
      jsonb_build_object('version', v_version::text, 'fields', 'subject body', 'draft', p_draft::text));
  return 'kept';
end $$;
