-- The people who are mailed their tasks in the morning, because they asked for it.
create table task_mail (
  person_id  uuid primary key references person on delete cascade,
  -- The last day, in the firm's time zone, whose mail is settled. The instance that advances it to a day queues the mail of that day.
  settled_on date not null
);
