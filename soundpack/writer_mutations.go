package soundpack

// A mutation is a way to break the protocol. Built with the tag mutants, the tests break it in each of
// them and fail if the simulated crashes do not find out.
type mutation string

const (
	noDataSync     mutation = "bodies are not synced before the index"
	noIndexSync    mutation = "the new index is not synced before its rename"
	noFileSync     mutation = "the new data file of compacting is not synced before its rename"
	noCopySync     mutation = "the copy that compacting appends is not synced"
	noDirSync      mutation = "the folder is not synced before a commit is told"
	noStepSync     mutation = "the folder is not synced between the steps of compacting"
	noFreshSync    mutation = "the folder is not synced before the first index"
	noSessionSync  mutation = "a writer does not sync what it finds"
	inPlaceIndex   mutation = "the index is overwritten in place"
	appendAtLive   mutation = "bodies go behind the last entry, not to the end of the data"
	twoRenames     mutation = "compacting replaces the data, then the index"
	twoRenamesBack mutation = "compacting replaces the index, then the data"
	skipStone      mutation = "compacting leaves out the data that has everything twice"
	cutInPlace     mutation = "compacting ends by cutting the data, not by a new file"
	noCutBack      mutation = "what a failed commit appended stays"
	goOnAfterSync  mutation = "a commit goes on after a sync that failed"
)
