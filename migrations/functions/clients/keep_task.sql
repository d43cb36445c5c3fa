-- Who completed a task, and when, come from the transaction. A task concerns something that its writer sees on the same record, and its
-- owner sees the record too. The consultant of the client owns it without being named, so that it moves with the client.
create or replace function keep_task() returns trigger language plpgsql set search_path from current as $$
declare
  v_was task;
begin
  if tg_op = 'UPDATE' then v_was := old; end if;
  if new.owner_id is distinct from v_was.owner_id then
    if new.owner_id = (select consultant_id from client where id = new.client_id) then
      new.owner_id := null;
    elsif new.owner_id is distinct from task_owner(new.owner_id, null) then
      raise exception 'the owner of a task sees its record' using errcode = 'TG008', column = 'owner_id';
    end if;
  end if;
  if new.about_id is not null and (new.about_noun, new.about_id) is distinct from (v_was.about_noun, v_was.about_id)
    and task_subject(new.client_id, new.about_noun, new.about_id) is null then
    raise exception 'a task concerns something on its record' using errcode = 'TG008', column = 'about';
  end if;
  if new.status = 'open' then
    new.done_at := null;
    new.done_by := null;
  elsif v_was.status is distinct from 'done' then
    new.done_at := record_time();
    new.done_by := portal_person();
  end if;
  return new;
end $$;
create or replace trigger kept before insert or update on task for each row execute function keep_task();
