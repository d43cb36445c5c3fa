-- Asks for a mail: to the reviewer when a review is asked for, and to the person who asked when someone else returns or approves the letter.
create or replace function note_letter_review() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    -- A person who withdraws a review and asks for it again, over and over, sends at most two mails an hour.
    insert into letter_review_notice (review_id, client_id, kind)
      select new.id, new.client_id, 'asked' where 2 > (
        select count(*) from letter_review r where r.letter_id = new.letter_id and r.reviewer_id = new.reviewer_id and r.id <> new.id
          and r.created_by is not distinct from new.created_by and r.status = 'withdrawn'
          and r.created_at > new.created_at - interval '1 hour');
  elsif new.status in ('returned', 'approved') and new.created_by is distinct from new.updated_by then
    insert into letter_review_notice (review_id, client_id, kind) values (new.id, new.client_id, new.status);
  end if;
  return null;
end $$;
create or replace trigger noted after insert or update on letter_review for each row execute function note_letter_review();
