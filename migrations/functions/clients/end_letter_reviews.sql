-- A letter that is approved, or sent as a draft, is no longer waiting for a review.
create or replace function end_letter_reviews() returns trigger language plpgsql set search_path from current as $$
begin
  update letter_review set status = 'approved', version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where letter_id = new.id and status = 'open';
  return null;
end $$;
create or replace trigger reviewed after update on letter for each row when (old.status = 'draft' and new.status <> 'draft')
  execute function end_letter_reviews();
