package page

import "sync"

// cache remembers answers, those asked for last, within cacheBytes.
type cache struct {
	mu    sync.Mutex // guards all
	data  map[string][]byte
	order []string // by use, the last one asked for at the end
	bytes int
}

func (c *cache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.data[key]
	if ok {
		c.touch(key)
	}
	return data, ok
}

// touch moves a key to the end of the order.
func (c *cache) touch(key string) {
	for i, k := range c.order {
		if k == key {
			c.order = append(c.order[:i], c.order[i+1:]...)
			break
		}
	}
	c.order = append(c.order, key)
}

func (c *cache) put(key string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data == nil {
		c.data = map[string][]byte{}
	}
	c.bytes += len(data) - len(c.data[key])
	c.data[key] = data
	c.touch(key)
	for c.bytes > cacheBytes && len(c.order) > 1 {
		oldest := c.order[0]
		c.bytes -= len(c.data[oldest])
		delete(c.data, oldest)
		c.order = c.order[1:]
	}
}
