/* The protocol at the top of Sources/DefaultJournal/Engine/Journal.swift, for Spin. README.md says what is in it, and
   how to run it. An inline has the name of the engine's function that it models. Work under the lock is one step where
   no other process could see the steps in it. Each switch (NO_… and others) leaves a rule out, and makes a run fail. */

#ifndef WRITES
#define WRITES 1            /* the number of each of these events, in all processes together */
#endif
#ifndef COMPACTIONS
#define COMPACTIONS 1
#endif
#ifndef FLUSHES
#define FLUSHES 1
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef FAILURES
#define FAILURES 0          /* syncs that fail */
#endif
#ifndef READERS
#define READERS 1
#endif

#define NONE 255
#define FILES (1 + COMPACTIONS + FAILURES)
#define RECORDS (3 + WRITES + COMPACTIONS + FAILURES + KILLS)

/* A record is one byte. A value is the number of the write to its key. */
#define set(key, value) ((key) * 8 + (value))
#define moved(salt, end) (128 + (salt) * 16 + (end))
#define isMove(record) ((record) >= 128)
#define keyOf(record) ((record) / 8)
#define valueOf(record) ((record) % 8)
#define saltOf(record) (((record) - 128) / 16)
#define endOf(record) ((record) % 16)

typedef File {
    byte salt; byte end; byte record[RECORDS];
    byte newest[2];         /* the last value of each key */
    byte synced[2];         /* the last value of each key that is certainly on the disk */
    bool isTorn;            /* a killed writer has left a part of a record behind the end */
    bool isDamaged;         /* the bytes behind the end aren't the beginning of a record */
    bool isLost;            /* a sync has failed, so later ones have no effect */
    byte owner;             /* the process with the flock of the file, which only compactions take */
    bool renameUnsynced; bool syncFailed; bool isFlushed; byte copied   /* the header's words */
}
File f[FILES];
byte files = 1, salts = 1;
byte journal = 0, journalNew = NONE;    /* the names in the directory */
byte names = 1;             /* a bit for each file that the journal's name may lead to after a loss of power */
byte lock = NONE;           /* the flock of the directory */
byte victim = NONE;
byte written[2], acknowledged[2], promised[2];
byte writes, compactions, flushes, kills, failures;

/* LOOK. A process knows a file, a position in it, and the entries up to there. */

#define isMoving (position > 0 && isMove(f[file].record[position - 1]))
#define hasAll(values) (entries[0] >= values[0] && entries[1] >= values[1])

inline applyRecords() {
    do
    :: position < f[file].end ->
        i = f[file].record[position];
        if
        :: !isMove(i) -> entries[keyOf(i)] = valueOf(i)
        :: else
        fi;
        position++
    :: else -> break
    od;
    i = 0;
    assert(!f[file].isDamaged)
}

inline use(other, upTo) { file = other; position = upTo; isTold = f[other].isLost }

inline load() {
    before[0] = entries[0]; before[1] = entries[1]; entries[0] = 0; entries[1] = 0;
    use(journal, 0);
    applyRecords();
    assert(hasAll(before));         /* no process goes backwards */
    before[0] = 0; before[1] = 0
}

inline follow() {
    i = f[file].record[position - 1];
    if
#ifdef NO_SALT
    :: f[journal].end >= endOf(i) -> use(journal, endOf(i))
#else
    :: f[journal].salt == saltOf(i) -> use(journal, endOf(i))
#endif
    :: else -> load()
    fi;
    i = 0
}

inline catchUp() {
    do
    :: d_step { isMoving && journal != file -> follow() }
    :: else ->
        if
        :: d_step { position < f[file].end -> applyRecords() }
        :: else -> break
        fi
    od
}

/* LOCK and APPEND. Under the lock no other process changes what catchUp() reads, so catching up is part of the step. */

inline acquire() {
#ifndef NO_LOCK
    lock == NONE -> lock = _pid;
#endif
#ifndef NO_LOOK
    do
    :: isMoving && journal != file -> follow()
    :: !(isMoving && journal != file) && position < f[file].end -> applyRecords()
    :: else -> break
    od;
    assert(hasAll(acknowledged));
#endif
#ifndef NO_CUT
    f[file].isTorn = false
#endif
}

inline release() { lock = NONE }

inline put(x, at, r) {
    f[x].record[at] = r;
    if
    :: !isMove(r) -> f[x].newest[keyOf(r)] = valueOf(r)
    :: else
    fi;
    if
    :: f[x].end == at -> f[x].end++
    :: else
    fi
}

inline write(r) {
    /* A record that is shorter than the part left by a killed writer leaves the rest of that part behind it. */
    f[file].isDamaged = f[file].isTorn; f[file].isTorn = false;
    put(file, position, r);
    position++
}

inline commit(key) {
    d_step { acquire() };
    d_step {
        written[key]++; entries[key] = written[key];
        write(set(key, written[key]));
        acknowledged[key] = written[key];
        release()
    }
}

/* COMPACTION. A process that compacts knows the old file and the end of its copied part, and the new file and the end
   of its synced part. */

inline syncFile(x) { f[x].synced[0] = f[x].newest[0]; f[x].synced[1] = f[x].newest[1] }

inline makeNew() {
    f[fresh].salt = salts; salts++; f[fresh].end = 0; f[fresh].renameUnsynced = true; f[fresh].isFlushed = false;
    f[fresh].copied = 0;
    f[fresh].newest[0] = 0; f[fresh].newest[1] = 0; syncFile(fresh)
}

inline append(key, value) {
    if
    :: value > 0 -> put(fresh, f[fresh].end, set(key, value))
    :: else
    fi
}

inline openCompactionTarget() {
    do
    ::  d_step {
            if
            :: journalNew == NONE -> journalNew = files; files++; f[journalNew].owner = NONE
            :: else
            fi;
            fresh = journalNew
        };
#ifndef NO_LOCK_OF_NEW_FILE
        atomic { f[fresh].owner == NONE -> f[fresh].owner = _pid };
#endif
#ifdef NO_CHECK_OF_NAME
        d_step { makeNew() }; break
#else
        if
        :: d_step { journalNew == fresh -> makeNew() }; break
        :: d_step { journalNew != fresh -> f[fresh].owner = NONE; fresh = NONE }
        fi
#endif
    od
}

inline copyTail() {
    do
    :: copied < position ->
        i = f[old].record[copied];
        if
        :: !isMove(i) -> put(fresh, f[fresh].end, i)
        :: else
        fi;
        copied++
    :: else -> break
    od;
    i = 0
}

inline syncNew() {
#ifndef NO_SYNC_OF_NEW_FILE
    syncFile(fresh);
#endif
    freshSynced = f[fresh].end
}

/* Copies the records that were written meanwhile, and syncs the new file. */
inline synchronize() {
#ifndef FLAG_TAKEN_BACK_LATE
    f[old].isFlushed = false;
#endif
    catchUp();
    if
    :: file == old ->
#ifdef FLAG_TAKEN_BACK_LATE
        d_step { copyTail() };
        f[old].isFlushed = false;
#endif
#ifdef COPIED_TOO_EARLY
        f[old].copied = position + 1;
#endif
        d_step {
            copyTail();
#ifndef COPIED_TOO_EARLY
            f[old].copied = copied
#endif
        };
        syncNew()
    :: else
    fi
}

inline rename() {
    d_step { journalNew = NONE; journal = fresh; names = names | (1 << fresh) }
}

/* Puts the new file in place, unless a flush has promised records that aren't synced in it. */
inline swapIn() {
#ifdef RENAME_FIRST
    rename();
#endif
#ifdef FLAG_READ_EARLY
    isPromised = f[old].isFlushed;
#endif
#ifndef NO_MOVED
    d_step { write(moved(f[fresh].salt, f[fresh].end)) };
#endif
    d_step {
#ifndef FLAG_READ_EARLY
        isPromised = f[old].isFlushed;
#endif
#ifdef NO_LAST_SYNC
        isPromised = false;
#endif
        isPromised = isPromised && freshSynced < f[fresh].end
    };
    if
    :: isPromised -> d_step { copied = position; release() }
    :: else ->
#ifndef RENAME_FIRST
        rename();
#endif
        d_step {
            syncedSalt = f[fresh].salt;
#ifdef TAIL_TAKEN_FOR_SYNCED
            syncedEnd = f[fresh].end;
#else
            syncedEnd = freshSynced;
#endif
            use(fresh, f[fresh].end);
            release();
            forgetNew()
        }
    fi
}

inline forgetNew() {
    if
    :: f[fresh].owner == _pid -> f[fresh].owner = NONE
    :: else
    fi;
    fresh = NONE; freshSynced = 0; old = NONE; copied = 0
}

inline syncRename() {
#ifdef RENAME_NOTED_EARLY
    f[file].renameUnsynced = false;
#endif
#ifndef NO_SYNC_OF_DIRECTORY
    names = 1 << journal;
#endif
    f[file].renameUnsynced = false
}

/* The live entries: those of the old file, up to where it was read, or after a failed sync those of this process. */
inline fill() {
    if
    :: f[old].syncFailed ->
        d_step {
            acquire();
            if
            :: file == old -> append(0, entries[0]); append(1, entries[1]); copied = position
            :: else
            fi;
            release()
        }
    :: else ->
        atomic {
            position = 0;
            d_step {
                do
                :: position < copied ->
                    i = f[old].record[position];
                    if
                    :: !isMove(i) -> before[keyOf(i)] = valueOf(i)
                    :: else
                    fi;
                    position++
                :: else -> break
                od;
                i = 0;
                append(0, before[0]); append(1, before[1]);
                before[0] = 0; before[1] = 0
            }
        }
    fi
}

inline rewrite() {
    openCompactionTarget();
    fill();
    do
    ::  synchronize();
        d_step { acquire() };
        if
#ifdef NO_CHECK_OF_FILE
        :: true ->
#else
        :: file == old ->
#endif
#ifndef NO_TAIL
            d_step { copyTail() };
#endif
            swapIn()
        :: else -> d_step { release(); forgetNew() }
        fi;
        if
        :: isPromised -> isPromised = false
        :: else -> break
        fi
    od;
    if
    :: f[file].renameUnsynced -> syncRename()
    :: else
    fi
}

inline compactFiles() {
    d_step { acquire(); old = file; copied = position; release() };
    rewrite()
}

/* FLUSH. A process knows the journal that it synced last, and the end of the synced part. */

inline noteFailedSync() {
    f[file].isLost = true; isTold = true; hasFailed = true;
#ifndef NO_NOTE_OF_FAILURE
    f[file].syncFailed = true
#endif
}

/* Flusher.sync. Records that were written before it began are on the disk when it returns; nothing more is certain. The
   system reports a failure once to each process that has the file open, and then considers the lost pages written. */
inline sync() {
    if
#ifdef NO_FILE_OF_SYNCED
    :: syncedSalt != NONE && syncedEnd >= position
#else
    :: syncedSalt == f[file].salt && syncedEnd >= position
#endif
    :: else ->
        d_step { covered[0] = f[file].newest[0]; covered[1] = f[file].newest[1] };
        if
        :: d_step { !f[file].isLost && failures < FAILURES -> failures++; noteFailedSync() }
        :: d_step { f[file].isLost && !isTold -> noteFailedSync() }
        :: d_step { !f[file].isLost || isTold ->
#ifndef NO_SYNC
                if
                :: !f[file].isLost ->
                    if :: f[file].synced[0] < covered[0] -> f[file].synced[0] = covered[0] :: else fi;
                    if :: f[file].synced[1] < covered[1] -> f[file].synced[1] = covered[1] :: else fi
                :: else
                fi;
#endif
                syncedSalt = f[file].salt; syncedEnd = position
            }
#ifdef COVERED_TOO_LATE
            ;
            syncedEnd = f[file].end
#endif
        fi;
        d_step { covered[0] = 0; covered[1] = 0 }
    fi
}

inline rewriteAfterFailedSync() {
    d_step { acquire(); old = file; copied = position; release() };
    if
    :: f[old].syncFailed -> rewrite()
    /* A compaction has replaced the file, and left the end of the copied part to the next sync. */
    :: else
    fi;
#ifdef NO_FLUSH_AFTER_COMPACTION
    isDone = true
#endif
}

inline flush() {
    d_step { least[0] = acknowledged[0]; least[1] = acknowledged[1] };
    do
    ::  catchUp();
        atomic {
            assert(hasAll(least));
            old = file; isUnsynced = f[file].renameUnsynced; mustRewrite = f[file].syncFailed;
#ifdef FLAG_TOO_EARLY
            /* Once this process has read or set the flag, it relies on its value. */
            isFlushed = flagSalt == f[file].salt || f[file].isFlushed;
            flagSalt = f[file].salt
#else
            isFlushed = f[file].isFlushed || f[file].copied >= position
#endif
        };
        if
        :: mustRewrite -> mustRewrite = false; rewriteAfterFailedSync()
        :: else ->
            sync();
            if
            :: hasFailed -> isDone = true
            :: else ->
                if
                :: isUnsynced -> syncRename()
                :: else
                fi;
#ifdef LOOK_BEFORE_FLAG
                catchUp();
#endif
#ifndef NO_FLAG
                if
                :: !isFlushed -> f[old].isFlushed = true
                :: else
                fi;
#endif
#ifndef LOOK_BEFORE_FLAG
                catchUp();
#endif
#ifndef NO_WAIT
                if
                :: isMoving && file == old -> d_step { acquire(); release() }
                :: else
                fi;
#endif
#ifdef NO_SECOND_FLUSH
                isDone = true
#else
                isDone = file == old
#endif
            fi
        fi;
        isUnsynced = false; isFlushed = false; old = NONE;
        if
        :: isDone -> break
        :: else
        fi
    od;
    atomic {
        if :: !hasFailed && least[0] > promised[0] -> promised[0] = least[0] :: else fi;
        if :: !hasFailed && least[1] > promised[1] -> promised[1] = least[1] :: else fi;
        least[0] = 0; least[1] = 0; isDone = false; hasFailed = false
    }
}

#define KNOWS byte file, position, entries[2], least[2], before[2], i; bool isTold

proctype Process() {
    KNOWS;
    byte old = NONE, copied, fresh = NONE, freshSynced, covered[2], syncedSalt = NONE, syncedEnd;
    bool isUnsynced, isFlushed, mustRewrite, isPromised, hasFailed, isDone;
#ifdef FLAG_TOO_EARLY
    byte flagSalt = NONE;
#endif
openFirst:
    atomic { load() };
    {
        do
        :: atomic { writes < WRITES -> writes++ };
            if
            :: commit(0)
            :: commit(1)
            fi
        :: atomic { flushes < FLUSHES -> flushes++ };
            flush()
        /* The processes are alike, so the first process can make the first compaction without loss of generality. */
        :: atomic { compactions < COMPACTIONS && (compactions > 0 || _pid == 1) -> compactions++ };
            compactFiles()
        :: writes == WRITES && flushes == FLUSHES && compactions == COMPACTIONS -> break
        od
    } unless {
        victim == _pid ->
        atomic {
            d_step {
                do
                :: i < FILES ->
                    if
                    :: f[i].owner == _pid -> f[i].owner = NONE
                    :: else
                    fi;
                    i++
                :: else -> break
                od;
                i = 0;
                entries[0] = 0; entries[1] = 0; least[0] = 0; least[1] = 0; before[0] = 0; before[1] = 0;
                covered[0] = 0; covered[1] = 0; old = NONE; copied = 0; fresh = NONE; freshSynced = 0;
                syncedSalt = NONE; syncedEnd = 0;
                isUnsynced = false; isFlushed = false; mustRewrite = false; isPromised = false;
                hasFailed = false; isDone = false; victim = NONE
            };
            goto openFirst
        }
    }
}

/* A read returns at least the values that were acknowledged when it began. */
proctype Reader() {
    KNOWS;
    d_step { load() };
end:
    do
    ::  d_step { least[0] = acknowledged[0]; least[1] = acknowledged[1] };
        if
        :: catchUp()
        :: atomic { load() }
        fi;
        atomic { assert(hasAll(least)); least[0] = 0; least[1] = 0 }
    od
}

/* Kills a process between two of its steps, or in the middle of a write to the journal; the process then restarts. */
proctype Kill() {
end:
    do
    :: atomic {
            kills < KILLS && victim == NONE -> kills++;
            if
            :: victim = 1
            :: victim = 2
            fi;
            if
            :: lock == victim -> lock = NONE;
                if
                :: f[journal].isTorn = true
                :: true
                fi
            :: else
            fi
        }
    od
}

/* In each state the file at the path has each acknowledged write; and if the power were lost now, each file that the
   path may then lead to would have the values that a flush has promised. */
proctype Always() {
    byte x;
end:
    do
    :: d_step {
            assert(f[journal].newest[0] >= acknowledged[0] && f[journal].newest[1] >= acknowledged[1]);
            do
            :: x < FILES ->
                assert(!(names & (1 << x)) || f[x].synced[0] >= promised[0] && f[x].synced[1] >= promised[1]);
                x++
            :: else -> break
            od;
            x = 0
        }
    od
}

/* Starts as after a loss of power: with a promised value, a part of a record, and flags that may be wrong. */
init {
    atomic {
        put(0, 0, set(0, 1)); written[0] = 1; acknowledged[0] = 1; promised[0] = 1; syncFile(0);
        f[0].owner = NONE;
        f[0].isTorn = true;
        if
        :: FLUSHES > 0 -> f[0].isFlushed = true; f[0].renameUnsynced = true
        :: true
        fi;
        run Process(); run Process();
        if :: READERS > 0 -> run Reader() :: else fi;
        if :: KILLS > 0 -> run Kill() :: else fi;
        run Always()
    }
}
