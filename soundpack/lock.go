package soundpack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/sndpak/sndpak/soundpack/internal/storage"
)

// ErrLocked: another [Writer] has the pack. The text tells the number of its process.
var ErrLocked = errors.New("locked by another writer")

// lockPath is the file whose lock writers take: music.lock beside music.data. It is a file of its own
// that stays for ever: data and index are replaced, and a lock on a file that was replaced while
// somebody waited for it would be held by two.
func lockPath(data string) string {
	return strings.TrimSuffix(data, filepath.Ext(data)) + ".lock"
}

// checkLockPath refuses a pack one of whose files is where its lock would be.
func checkLockPath(data, index string) error {
	if l := filepath.Clean(lockPath(data)); l == filepath.Clean(data) || l == filepath.Clean(index) {
		return fmt.Errorf("%s is the name of the pack's lock: %w", filepath.Base(l), fs.ErrInvalid)
	}
	return nil
}

// tellNetwork tells that a pack's lock may be good for nothing but this computer.
func tellNetwork(fsys storage.FS, data string, notice func(path, text string)) {
	if on := fsys.Network(filepath.Dir(data)); on != "" && notice != nil {
		notice(data, fmt.Sprintf("on a network file system (%s), where the lock may not hold for other computers: let one at a time write", on))
	}
}

// lockPoll is how often a writer that waits looks again: locks that a process loses by dying have no
// queue to wait in.
const lockPoll = 10 * time.Millisecond

// lock takes the lock of a pack. With wait it looks again until ctx ends.
func lock(ctx context.Context, fsys storage.FS, data string, wait bool) (unlock func() error, err error) {
	for {
		unlock, err = fsys.Lock(lockPath(data))
		held := (*storage.Locked)(nil)
		if !errors.As(err, &held) {
			return unlock, err
		}
		err = ErrLocked
		if held.Holder > 0 {
			err = fmt.Errorf("%w (process %d)", ErrLocked, held.Holder)
		}
		if !wait {
			return nil, err
		}
		if e := pause(ctx, lockPoll); e != nil {
			return nil, fmt.Errorf("%w: %w", err, e)
		}
	}
}

// pause sleeps unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return ctx.Err()
	}
}
