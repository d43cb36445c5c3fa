-- A new version of a generated letter is generated too, and a letter that a person changes stays so.
create or replace function mark_generated() returns trigger language plpgsql set search_path from current as $$
begin
  new.generated := exists (select from draft where letter_id = new.id)
    or case tg_op when 'INSERT' then exists (select from letter where id = new.previous_id and generated)
      else old.generated end;
  return new;
end $$;
