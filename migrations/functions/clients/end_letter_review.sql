-- Returns a letter to the person who asked for the review, or withdraws the review. Outcomes: ended; unknown; archived, for the client or
-- the letter; over, if it ended before; other, if another person was asked; stale, if the letter is in another version than was read.
create or replace function end_letter_review(p_client uuid, p_letter uuid, p_review uuid, p_end jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_letter letter;
  v_client client;
  v_review letter_review;
  v_status constant text := p_end ->> 'status';
begin
  select * into v_letter from letter where id = p_letter and client_id = p_client for no key update;
  select * into v_client from client where id = p_client and deleted_at is null for no key update;
  select * into v_review from letter_review where id = p_review and letter_id = p_letter for no key update;
  if v_letter.id is null or v_client.id is null or v_review.id is null then return 'unknown'; end if;
  if v_client.status <> 'active' or v_letter.archived_at is not null then return 'archived'; end if;
  if v_review.status <> 'open' then return 'over'; end if;
  if v_status = 'returned' and v_review.reviewer_id is distinct from portal_person() then return 'other'; end if;
  if not coalesce(nullif(p_end -> 'basis', 'null') @> to_jsonb(v_letter.version), true) then return 'stale'; end if;
  update letter_review set status = v_status, reason = p_end ->> 'reason', version = version + 1, updated_at = record_time(),
    updated_by = portal_person() where id = p_review;
  insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    values ('letter_review_' || v_status, 'allowed', p_client, 'letter', p_letter, p_request, p_address,
      jsonb_build_object('review', p_review::text));
  return 'ended';
end $$;
