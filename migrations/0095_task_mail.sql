-- The people who are mailed their tasks in the morning, because they asked for it.
create table task_mail (
  person_id  uuid primary key references person on delete cascade,
  -- The last day, in the firm's time zone, for which nothing is left to mail. Whoever moves it to a day queues the mail of that day.
  settled_on date not null
);
