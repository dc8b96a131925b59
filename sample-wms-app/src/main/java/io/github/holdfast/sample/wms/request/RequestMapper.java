package io.github.holdfast.sample.wms.request;

import java.util.Optional;

import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;

@Mapper
interface RequestMapper {

	@Select("select content, answer from answered_request where request_id = #{requestId}")
	Optional<Answered> find(String requestId);

	@Insert("insert into answered_request (request_id, content, answer) values (#{requestId}, #{content}, #{answer})")
	void insert(String requestId, String content, String answer);

	record Answered(String content, String answer) {
	}

}
