-- The file of a letter never changes, and goes when its client is erased.
create or replace function keep_letter_file() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'DELETE' and erasure_is_due(old.client_id) then return old; end if;
  raise exception 'the file of a letter that was sent is neither changed nor taken away' using errcode = 'insufficient_privilege';
end $$;
create or replace trigger kept before update or delete on letter_file for each row execute function keep_letter_file();
create or replace trigger not_emptied before truncate on letter_file for each statement execute function refuse_change();
