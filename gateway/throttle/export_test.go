package throttle

// Remembered is how many callers a throttler remembers.
func Remembered(t *Throttler) int {
	n := 0
	for i := range t.shards {
		t.shards[i].mu.RLock()
		n += len(t.shards[i].buckets)
		t.shards[i].mu.RUnlock()
	}
	return n
}
