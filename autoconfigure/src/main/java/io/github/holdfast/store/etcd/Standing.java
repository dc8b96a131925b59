package io.github.holdfast.store.etcd;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import org.jspecify.annotations.Nullable;

/**
 * Where an entry stands in the queue of its lock, at one revision.
 *
 * @param revision the revision that this was seen at
 * @param createRevision when the entry was put
 * @param isCertain whether that was known when it was asked who is ahead
 * @param ahead the last one that was put before and has to be waited for, if any
 * @param epochOffset what is added to revisions
 * @param offsetModRevision when that was changed
 */
record Standing(long revision, long createRevision, boolean isCertain, @Nullable ByteSequence ahead, long epochOffset,
		long offsetModRevision) {

	static Standing of(TxnResponse answer, long knownCreateRevision) {
		List<GetResponse> found = answer.getGetResponses();
		long revision = answer.getHeader().getRevision();
		long createRevision = answer.isSucceeded() ? revision : EtcdLocks.createRevision(found.get(1).getKvs());
		List<KeyValue> ahead = found.get(0).getKvs();
		List<KeyValue> offset = found.get(2).getKvs();
		boolean certain = answer.isSucceeded() || createRevision == knownCreateRevision;
		return new Standing(revision, createRevision, certain, ahead.isEmpty() ? null : ahead.get(0).getKey(),
				offset.isEmpty() ? 0 : Long.parseLong(offset.get(0).getValue().toString(StandardCharsets.UTF_8)),
				offset.isEmpty() ? 0 : offset.get(0).getModRevision());
	}

	long epoch() {
		return this.createRevision + this.epochOffset;
	}

}
