-- Asks a person to review a letter. Outcomes: asked; exists, if a repeated request did it before; unknown; archived, for the client or the
-- letter; approved, if the letter is no draft; stale, if it is in another version; open, if the person was asked already; full.
create or replace function ask_letter_review(p_client uuid, p_letter uuid, p_review jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_letter letter;
  v_client client;
  v_id constant uuid := p_review ->> 'id';
  v_reviewer constant uuid := p_review ->> 'reviewer';
begin
  -- In the order of every edit: the item, then its client.
  select * into v_letter from letter where id = p_letter and client_id = p_client for no key update;
  select * into v_client from client where id = p_client and deleted_at is null for no key update;
  if v_letter.id is null or v_client.id is null then return 'unknown'; end if;
  if exists (select from letter_review where id = v_id and letter_id = p_letter) then return 'exists'; end if;
  if v_client.status <> 'active' or v_letter.archived_at is not null then return 'archived'; end if;
  if v_letter.status <> 'draft' then return 'approved'; end if;
  if not coalesce(nullif(p_review -> 'basis', 'null') @> to_jsonb(v_letter.version), true) then return 'stale'; end if;
  if exists (select from letter_review where letter_id = p_letter and reviewer_id = v_reviewer and status = 'open') then return 'open'; end if;
  if (select count(*) from letter_review where letter_id = p_letter) >= 100 then return 'full'; end if;
  insert into letter_review (id, client_id, letter_id, reviewer_id, message)
    values (v_id, p_client, p_letter, v_reviewer, p_review ->> 'message');
  insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    values ('letter_review_asked', 'allowed', p_client, 'letter', p_letter, p_request, p_address,
      jsonb_build_object('review', v_id::text, 'reviewer', v_reviewer::text));
  return 'asked';
end $$;
