-- A review is of a draft, by another person who may read its record. The reviewer returns it; an approval of the letter, by anyone, ends it, and
-- anyone who may change the letter withdraws it. It ends once, and goes when its client is erased.
create or replace function keep_letter_review() returns trigger language plpgsql set search_path from current as $$
declare
  v_letter letter;
begin
  if tg_op = 'DELETE' then
    if erasure_is_due(old.client_id) then return old; end if;
    raise exception 'a review is not taken away' using errcode = 'insufficient_privilege';
  end if;
  select * into v_letter from letter where id = new.letter_id and client_id = new.client_id;
  if tg_op = 'INSERT' then
    if v_letter.status is distinct from 'draft' or v_letter.archived_at is not null then
      raise exception 'only a draft is reviewed' using errcode = 'TG003';
    end if;
    if new.reviewer_id is not distinct from portal_person() or not exists (
        select from client c cross join lateral reviewers_of(c.consultant_id) r where c.id = new.client_id and r.id = new.reviewer_id) then
      raise exception 'a reviewer is someone else who may read the record' using errcode = 'TG011', column = 'reviewer';
    end if;
    new.letter_version := v_letter.version;
    return new;
  end if;
  if old.status <> 'open' or new.status = 'open'
    or new.status = 'returned' and old.reviewer_id is distinct from portal_person()
    or new.status = 'approved' and v_letter.status = 'draft' then
    raise exception 'a review ends once, by whom it may' using errcode = 'insufficient_privilege';
  end if;
  if new.status <> 'withdrawn' then new.ended_version := v_letter.version; end if;
  return new;
end $$;
create or replace trigger kept before insert or update or delete on letter_review for each row execute function keep_letter_review();
create or replace trigger not_emptied before truncate on letter_review for each statement execute function refuse_change();
